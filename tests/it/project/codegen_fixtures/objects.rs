//! Objects: columns, relations, arguments, connections.

use rollcall::engine::input::{Input, InputError, MaybeUndefined, Value};
use rollcall::engine::page::{Cursor, Edge, Page, PageArguments, PageRequest};
use rollcall::engine::write::{Scalar, Writer};
use rollcall::error::Result;

use generated::*;
use types::{Album, Band, ID, Year};

super::generated!("src/codegen/fixtures/objects.rs");

pub mod types {
    pub use crate::project::codegen_fixtures::State;

    #[derive(Debug)]
    pub struct ID(pub i64);
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Year(pub i32);
    #[derive(Debug, Clone)]
    pub struct Band {
        pub id: i64,
        pub name: &'static str,
    }
    #[derive(Debug, Clone)]
    pub struct Album {
        pub id: i64,
        pub title: String,
        pub band: Band,
    }

    macro_rules! fields {
        ($($declarations:tt)*) => {};
    }

    fields! {
        Band {
            computed: link;
        }
    }
}

impl Scalar for ID {
    fn write(&self, out: &mut Writer<'_>) {
        out.string(&self.0.to_string());
    }
}

impl Scalar for Year {
    fn write(&self, out: &mut Writer<'_>) {
        out.integer(self.0);
    }
}

impl Input for Year {
    fn read(value: &Value) -> Result<Self, InputError> {
        i32::read(value).map(Self)
    }
}

const BANDS: [Band; 3] = [Band { id: 1, name: "Quartet" }, Band { id: 2, name: "Trio" }, Band { id: 3, name: "Duo" }];

/// As many albums as the number in the band's identifier.
fn albums(band: &Band) -> Vec<Album> {
    (1..=band.id).map(|id| Album { id, title: format!("{} {id}", band.name), band: band.clone() }).collect()
}

fn album_page(band: &Band, request: &PageRequest) -> AlbumConnectionType {
    let after = request.after.as_ref().map_or(0, |cursor| cursor.id);
    let albums = albums(band).into_iter().filter(|album| album.id > after);
    Page::new(
        albums
            .map(|album| Edge { cursor: Cursor::id(album.id), node: album })
            .take(request.first as usize + 1)
            .collect(),
        request,
    )
}

impl BandResolver for Band {
    fn id(&self) -> ID {
        ID(self.id)
    }
    fn name(&self) -> &str {
        self.name
    }
    fn nickname(&self) -> Option<&str> {
        None
    }
    fn genre(&self) -> Genre {
        Genre::HipHop
    }
    fn second_genre(&self) -> Option<Genre> {
        (self.id == 1).then_some(Genre::Jazz)
    }
    fn founded(&self) -> Option<Year> {
        Some(Year(1990))
    }
    fn active(&self) -> bool {
        true
    }
    fn rating(&self) -> Option<f64> {
        Some(4.5)
    }
    fn members(&self) -> Option<i32> {
        None
    }
    async fn link(bands: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        ctx.state.log(format!("links of {}", bands.len()));
        Ok(bands.iter().map(|band| format!("/bands/{}", band.id)).collect())
    }
    async fn players(bands: &[&Self], _: &Ctx<'_>) -> Result<Vec<Vec<String>>> {
        Ok(bands.iter().map(|band| vec![band.name.to_lowercase()]).collect())
    }
    async fn rival(bands: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Band>>> {
        ctx.state.log(format!("rivals of {}", bands.len()));
        Ok(bands.iter().map(|band| BANDS.into_iter().find(|other| other.id == band.id + 1)).collect())
    }
    async fn albums(bands: &[&Self], args: &BandAlbumsArgs, ctx: &Ctx<'_>) -> Result<Vec<Vec<Album>>> {
        let BandAlbumsArgs { year, loud } = args;
        ctx.state.log(format!("albums of {}: {year:?} {loud}", bands.len()));
        Ok(bands.iter().map(|band| albums(band)).collect())
    }
    async fn album_pages(
        bands: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<Option<AlbumConnectionType>>> {
        let request = args.request()?;
        let counted = |band: &Band| ctx.selects("totalCount").then_some(band.id as i32);
        let page = |band: &&Self| Page { total_count: counted(band), ..album_page(band, &request) };
        Ok(bands.iter().map(|band| Some(page(band))).collect())
    }
    async fn album_pages_of(
        bands: &[&Self],
        args: &BandAlbumPagesOfArgs,
        _: &Ctx<'_>,
    ) -> Result<Vec<AlbumConnectionType>> {
        let BandAlbumPagesOfArgs { year: _, first, after } = args;
        let request = PageRequest::new(&first.map_or(MaybeUndefined::Null, MaybeUndefined::Value), after)?;
        Ok(bands.iter().map(|band| album_page(band, &request)).collect())
    }
    async fn pieces(bands: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<Vec<Vec<Option<String>>>>>> {
        Ok(bands.iter().map(|_| Some(vec![vec![None, Some("Overture".to_owned())], vec![]])).collect())
    }
    async fn shelves(bands: &[&Self], _: &Ctx<'_>) -> Result<Vec<Vec<Option<Vec<Option<Album>>>>>> {
        Ok(bands.iter().map(|_| vec![None, Some(vec![None])]).collect())
    }
}

impl AlbumResolver for Album {
    fn title(&self) -> &str {
        &self.title
    }
    async fn band(albums: &[&Self], _: &Ctx<'_>) -> Result<Vec<Band>> {
        Ok(albums.iter().map(|album| album.band.clone()).collect())
    }
}

impl BandQuery for Query {
    async fn band(_: &Ctx<'_>, id: String) -> Result<Option<Band>> {
        Ok(BANDS.into_iter().find(|band| band.id.to_string() == id))
    }
}

impl BandsQuery for Query {
    async fn bands(
        _: &Ctx<'_>,
        first: MaybeUndefined<i32>,
        after: MaybeUndefined<String>,
    ) -> Result<BandConnectionType> {
        let request = PageRequest::new(&first, &after)?;
        let rows = BANDS.into_iter().map(|band| Edge { cursor: Cursor::id(band.id), node: band });
        Ok(Page::new(rows.take(request.first as usize + 1).collect(), &request))
    }
}

impl BandCountQuery for Query {
    async fn band_count(_: &Ctx<'_>, genre: MaybeUndefined<Genre>) -> Result<i32> {
        Ok(if genre.value() == Some(&Genre::HipHop) { 3 } else { 0 })
    }
}

impl PlayingQuery for Query {
    async fn playing(_: &Ctx<'_>) -> Result<Option<Airtime>> {
        let later = Airtime { minute: 5, hints: Some(vec!["late".to_owned()]), band: None, albums: vec![], next: None };
        let [quartet, ..] = BANDS;
        let albums = albums(&quartet);
        let next = Some(rollcall::engine::Boxed(Box::new(later)));
        Ok(Some(Airtime { minute: 0, hints: None, band: Some(quartet), albums, next }))
    }
}
